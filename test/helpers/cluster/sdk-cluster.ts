import { inject } from 'vitest';
import { shareCluster } from './share-cluster.ts';

/** What the suites of the SDKs need of a cluster whose demo engine offers `demo`. */
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

/** The cluster that runs already in containers, else one of processes that other files use, too. Its `stop` belongs into `afterAll`. */
export async function sdkCluster(): Promise<SdkCluster & { stop(): Promise<void> }> {
  const running = inject('composeCluster');
  if (running) return { ...running, stop: () => Promise.resolve() };
  return shareCluster();
}
