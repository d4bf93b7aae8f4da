package lab

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// writeFiles writes keys, certificates, tokens and kubeconfigs, and gives the
// flags that name them.
func (k *Kube) writeFiles(port int) ([]string, error) {
	cert, key, err := k.ca.issue(k.Name)
	if err != nil {
		return nil, err
	}
	signing, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	accountKey, accountPub := filepath.Join(k.dir, "service-account.key"), filepath.Join(k.dir, "service-account.pub")
	if err := errors.Join(writeKey(accountKey, signing), writePublicKey(accountPub, signing)); err != nil {
		return nil, err
	}
	tokens := filepath.Join(k.dir, "tokens.csv")
	if err := writeTokens(tokens, k.users); err != nil {
		return nil, err
	}
	for _, u := range k.users {
		if err := k.writeKubeconfig(u); err != nil {
			return nil, err
		}
	}
	k.Config, k.Kubeconfig = k.config(k.users[0]), k.KubeconfigFor(kubeAdmin)

	return []string{
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--cert-dir=" + k.dir,
		"--tls-cert-file=" + cert, "--tls-private-key-file=" + key,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + accountPub, "--service-account-signing-key-file=" + accountKey,
		"--token-auth-file=" + tokens,
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--disable-admission-plugins=ServiceAccount", // nobody makes the default accounts
		// Loopback is no valid endpoint of the service "kubernetes", and nobody needs one.
		"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
	}, nil
}

func writeTokens(file string, users []User) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	for _, u := range users {
		if err := w.Write([]string{u.Token, u.Name, u.Name, strings.Join(u.Groups, ",")}); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// KubeconfigFor is the kubeconfig file of one of the Users.
func (k *Kube) KubeconfigFor(user string) string {
	// KUBECONFIG is a list with colons, and service accounts have some in their names.
	return filepath.Join(k.dir, strings.ReplaceAll(user, ":", "_")+".kubeconfig")
}

func (k *Kube) writeKubeconfig(u User) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["lab"] = &clientcmdapi.Cluster{Server: k.URL, CertificateAuthorityData: k.ca.pem}
	config.AuthInfos[u.Name] = &clientcmdapi.AuthInfo{Token: u.Token}
	config.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: u.Name}
	config.CurrentContext = "lab"
	return clientcmd.WriteToFile(*config, k.KubeconfigFor(u.Name))
}
