import { randomBytes } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { buildPrograms } from '#services/rtr/build/build-programs.ts';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import '../helpers/cluster/sdk-cluster.ts';
import { dockerAnswers } from '../helpers/servers/docker-answers.ts';
import { buildImage, testImage } from '../helpers/compose/build-image.ts';
import { ComposeProject, type ComposeOptions } from '../helpers/compose/compose-project.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The cluster that all tests of the Compose file share. */
    composeOptions: ComposeOptions;
  }
}

/**
 * Builds the image and starts the cluster that all tests of the Compose file share; removes it after them. Without Docker they are skipped.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const demoPort = String(await findFreePort());
  const options: ComposeOptions = {
    name: `rtr-test-${randomBytes(4).toString('hex')}`,
    port: await findFreePort(),
    profiles: ['tools'],
    files: ['test/compose/trial.yml'],
    env: {
      RTR_IMAGE: testImage,
      DEMO_MODELS: 'demo,demo-b,demo-c',
      DEMO_PORT: demoPort,
      PROMETHEUS_PORT: String(await findFreePort()),
      GATE_PORT: String(await findFreePort()),
    },
  };
  project.provide('composeOptions', options);
  if (!(await dockerAnswers())) return undefined;
  await Promise.all([buildImage(), buildPrograms(process.cwd())]);
  const compose = new ComposeProject(options);
  const takeDown = async (): Promise<void> => {
    await compose.down();
    const left = await compose.leftovers();
    if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
  };
  try {
    await compose.up();
    const engineUrl = `http://127.0.0.1:${demoPort}`;
    project.provide('composeCluster', { url: compose.url, key: await compose.key(), engineUrl });
  } catch (error) {
    const logs = await compose.run('logs', '--tail', '30');
    await takeDown();
    throw new Error(`the cluster did not come up:\n${logs}`, { cause: error });
  }
  return takeDown;
}
