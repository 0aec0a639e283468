#!/usr/bin/env -S node --max-semi-space-size=1 --max-old-space-size=96
// The built command; executable from the checkout on, which what tsc writes is not. Every line of a log leaves garbage: without the limits
// above, Node lets it grow to several times of what the agent needs.
import '../dist/bin/hopwise-server.js';
