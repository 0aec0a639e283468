#!/usr/bin/env node
// The built command; executable from the checkout on, which what tsc writes is not.
import '../dist/bin/hopwise-server.js';
