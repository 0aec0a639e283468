import { testLoad } from './support/load.ts';

testLoad({ downloadMb: 200, uploadMb: 64, requests: 1000 });
