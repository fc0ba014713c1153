import { inject, onTestFinished } from 'vitest';
import { startPausableProxy } from '../servers/pausable-proxy.ts';
import { openKeyStore } from './open-key-store.ts';

/**
 * Opens a key store whose connection passes a proxy, and the same store without it, for the running test.
 * @param isPatient whether commands through the proxy may take longer than a second
 */
export async function openThroughProxy(isPatient = true) {
  const proxy = await startPausableProxy(Number(new URL(inject('redisUrl')).port));
  onTestFinished(() => proxy.close());
  const behind = await openKeyStore(`redis://127.0.0.1:${proxy.port}`, undefined, isPatient);
  return { proxy, behind, direct: await openKeyStore(inject('redisUrl'), behind.prefix) };
}
