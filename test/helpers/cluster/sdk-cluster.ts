import { inject } from 'vitest';
import { startCluster } from './start-cluster.ts';

/** What the suites of the SDKs need of a cluster whose demo engine offers demo, demo-b and demo-c. */
export interface SdkCluster {
  /** Where clients connect to, as `http://127.0.0.1:1234`. */
  url: string;
  /** A valid router key. */
  key: string;
  /** Where the demo engine serves its state. */
  engineUrl: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The cluster of the Compose file, while the tests of that run. */
    composeCluster: SdkCluster | undefined;
  }
}

/** The cluster that runs already in containers, else one of processes. Its `stop` belongs into `afterAll`. */
export async function sdkCluster(): Promise<SdkCluster & { stop(): Promise<void> }> {
  const running = inject('composeCluster');
  if (running) return { ...running, stop: () => Promise.resolve() };
  return startCluster({ engine: { DEMO_MODELS: 'demo,demo-b,demo-c' } });
}
