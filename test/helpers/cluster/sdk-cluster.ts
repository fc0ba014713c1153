import { inject } from 'vitest';
import { shareCluster } from './share-cluster.ts';

/** A cluster for the suites of the SDKs; its demo engine offers `demo`. */
export interface SdkCluster {
  /** Address for clients, such as `http://127.0.0.1:1234`. */
  url: string;
  key: string;
  /** Address of the demo engine's state. */
  engineUrl: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The cluster of the Compose file, while its tests run. */
    composeCluster: SdkCluster | undefined;
  }
}

/** Returns the cluster that already runs in containers, or one of processes that other files also use. Call its `stop` in `afterAll`. */
export async function sdkCluster(): Promise<SdkCluster & { stop(): Promise<void> }> {
  const running = inject('composeCluster');
  if (running) return { ...running, stop: () => Promise.resolve() };
  return shareCluster();
}
