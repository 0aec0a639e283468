// Package certs makes the lab's certificate authority and its servers' certificates. The
// authority's private key stays in memory; the certificates are short-lived and valid only for the given hosts.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

const validity = 7 * 24 * time.Hour

// Authority signs the servers' certificates.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	// PEM is the authority's certificate.
	PEM []byte
}

// Pair is a server's certificate chain, ending with the authority's certificate, and its private key.
type Pair struct {
	ChainPEM []byte `json:"chainPem"`
	KeyPEM   []byte `json:"keyPem"`
}

// NewAuthority makes an authority that can sign for the given hosts only (RFC 5280, section 4.2.1.10).
func NewAuthority(hosts []string, now time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	template, err := template(pkix.Name{CommonName: "hopwise lab", Organization: []string{"hopwise"}}, now)
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.MaxPathLenZero = true
	template.KeyUsage = x509.KeyUsageCertSign
	template.PermittedDNSDomainsCritical = true
	template.PermittedDNSDomains = hosts
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	return &Authority{certificate, key, encode("CERTIFICATE", der)}, nil
}

// SPKI is the base64 SHA-256 of the authority's SubjectPublicKeyInfo, the form that browsers accept.
func (a *Authority) SPKI() string {
	sum := sha256.Sum256(a.certificate.RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Issue makes a certificate for one host. Each host has its own, because browsers may send requests for all hosts in a
// certificate over one connection (RFC 9113, section 9.1.1).
func (a *Authority) Issue(host string, now time.Time) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("certificate of %s: %w", host, err)
	}
	// A name can be longer than the 64 characters of a common name.
	template, err := template(pkix.Name{Organization: []string{"hopwise lab"}}, now)
	if err != nil {
		return Pair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = []string{host}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("certificate of %s: %w", host, err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("certificate of %s: %w", host, err)
	}
	return Pair{append(encode("CERTIFICATE", der), a.PEM...), encode("PRIVATE KEY", keyDER)}, nil
}

func template(subject pkix.Name, now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject, BasicConstraintsValid: true,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validity),
	}, nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
