package certs

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"testing"
	"time"
)

func TestIssue(t *testing.T) {
	now := time.Now()
	authority, err := NewAuthority([]string{"a.test", "b.test"}, now)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue("a.test", now)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := tls.X509KeyPair(pair.ChainPEM, pair.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded.Certificate) != 2 {
		t.Fatalf("chain of %d certificates, want the server's and the authority's", len(loaded.Certificate))
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.PEM)
	if _, err := loaded.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "a.test"}); err != nil {
		t.Error(err)
	}
	if _, err := loaded.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "b.test"}); err == nil {
		t.Error("the certificate is good for another origin")
	}
}

func TestAuthorityIsGoodForItsHostsOnly(t *testing.T) {
	authority, err := NewAuthority([]string{"a.test"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue("bank.example", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := tls.X509KeyPair(pair.ChainPEM, pair.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.PEM)
	if _, err := loaded.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "bank.example"}); err == nil {
		t.Error("a certificate for a host outside of the lab was accepted")
	}
}

func TestSPKI(t *testing.T) {
	authority, err := NewAuthority([]string{"a.test"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(authority.PEM)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(certificate.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(public)
	if want := base64.StdEncoding.EncodeToString(sum[:]); authority.SPKI() != want {
		t.Errorf("got %s, want %s", authority.SPKI(), want)
	}
}
