package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kinds, as they stand in owner references and in spec.databaseConnectionReference.
const (
	KindDatabaseRequest            = "DatabaseRequest"
	KindRelationalDatabaseProvider = "RelationalDatabaseProvider"
	KindDatabaseMySQLProvider      = "DatabaseMySQLProvider"
)

// Resources, as they stand in URLs and in RBAC rules.
const (
	ResourceDatabaseRequests            = "databaserequests"
	ResourceRelationalDatabaseProviders = "relationaldatabaseproviders"
	ResourceDatabaseMySQLProviders      = "databasemysqlproviders"
)

// GroupVersion is crd.lagoon.sh/v1alpha1.
var GroupVersion = schema.GroupVersion{Group: "crd.lagoon.sh", Version: "v1alpha1"}

var schemeBuilder = runtime.NewSchemeBuilder(func(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&DatabaseRequest{}, &DatabaseRequestList{},
		&RelationalDatabaseProvider{}, &RelationalDatabaseProviderList{},
		&DatabaseMySQLProvider{}, &DatabaseMySQLProviderList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
})

// AddToScheme makes a scheme know the kinds of this package.
var AddToScheme = schemeBuilder.AddToScheme
