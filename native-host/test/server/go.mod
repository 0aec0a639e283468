module hopwise/nativehosttest

go 1.25.0

require (
	github.com/quic-go/quic-go v0.61.0
	golang.org/x/net v0.58.0
)

require (
	github.com/quic-go/qpack v0.6.0 // indirect
	golang.org/x/crypto v0.55.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)
