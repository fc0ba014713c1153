import { startProcess } from '../processes/start-process.ts';
import { startCluster, type Cluster } from './start-cluster.ts';
import { withRegistry } from './with-registry.ts';

/** A cluster of two engines with a gpu-worker each: one serves the model `big`, the other one `small`. */
export async function startTwoModels(registry: string): Promise<Cluster> {
  const engine = startProcess('services/demo-engine/main.ts', {
    PORT: '0',
    DEMO_MODELS: 'small',
    DEMO_TOKENS_PER_SECOND: '0',
  });
  try {
    const cluster = await startCluster({ ingress: withRegistry(registry), engine: { DEMO_MODELS: 'big' } });
    await cluster.addWorker({ ENGINE_URL: String((await engine.line('demo engine is ready'))['url']) });
    return {
      ...cluster,
      stop: async () => {
        await Promise.all([cluster.stop(), engine.stop()]);
      },
    };
  } catch (error) {
    await engine.stop();
    throw error;
  }
}
