package serve

import (
	"bytes"
	"compress/flate"
	"image/png"
	"strings"
	"testing"
)

func TestFillerPNGIsValidAndExact(t *testing.T) {
	for _, size := range []int{71, 72, 77, 82, 83, 84, 100, 5000, 123_456} {
		image, err := fillerPNG(1, 1, size, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(image) != size {
			t.Errorf("%d bytes, want %d", len(image), size)
		}
		if _, err := png.Decode(bytes.NewReader(image)); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestFillerPNGHasItsDimensions(t *testing.T) {
	data, err := fillerPNG(1203, 801, 40_000, 1)
	if err != nil {
		t.Fatal(err)
	}
	image, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if size := image.Bounds().Size(); size.X != 1203 || size.Y != 801 {
		t.Errorf("got %v", size)
	}
}

func TestFillerPNGTooSmall(t *testing.T) {
	if _, err := fillerPNG(1, 1, 43, 1); err == nil || !strings.Contains(err.Error(), "expected at least 71 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestNoiseIsSeededAndIncompressible(t *testing.T) {
	first := noise(100_000, 5)
	if !bytes.Equal(first, noise(100_000, 5)) || bytes.Equal(first, noise(100_000, 6)) {
		t.Error("expected the same bytes for the same seed only")
	}
	var packed bytes.Buffer
	writer, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(first); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if packed.Len() < len(first) {
		t.Errorf("compressed to %d bytes", packed.Len())
	}
}
