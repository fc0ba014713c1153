import { inject, onTestFinished } from 'vitest';
import { startPausableProxy } from '../servers/pausable-proxy.ts';
import { openKeyStore } from './open-key-store.ts';

/** Opens a key store whose connection passes a proxy, and the same store without it, for the running test. */
export async function openThroughProxy() {
  const proxy = await startPausableProxy(Number(new URL(inject('redisUrl')).port));
  onTestFinished(() => proxy.close());
  const behind = await openKeyStore(`redis://127.0.0.1:${proxy.port}`);
  return { proxy, behind, direct: await openKeyStore(inject('redisUrl'), behind.prefix) };
}
