import { testLoad } from './support/load.ts';

testLoad({ downloadMb: 64, uploadMb: 32, requests: 200 });
