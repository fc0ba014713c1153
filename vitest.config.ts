import { defineConfig } from 'vitest/config';
import { findNeeds } from './test/run/needs.ts';

const needs = await findNeeds();

const settings = {
  globalSetup: ['test/helpers/global-setup.ts'],
  setupFiles: ['test/run/measure.ts'],
  // Test files share processes: one for each file would cost a quarter of the time.
  isolate: false,
  // Ends what hangs; a busy machine takes several times as long as a quiet one.
  testTimeout: 40_000,
  hookTimeout: 60_000,
  expect: { requireAssertions: true },
};

/** Long tests that measure, or take the whole machine. */
const alone = [
  'test/long/{bench,chaos,cost,key-verifier-flood}.test.ts',
  'test/long/batches/{live-requests,live-tail}.test.ts',
  'test/long/broker/{many,slow-worker}.test.ts',
  'test/long/ingress/{hard-times,idempotent-requests,sick-engine,stopped-ingress,unread-clients}.test.ts',
  'test/long/continuation/*.test.ts',
  'test/long/console/{first-page,tables}.test.ts',
  'test/long/services/rtr/{join,package,up}/*.test.ts',
];

export default defineConfig({
  test: {
    tags: needs.map(({ name, isMet, how }) => ({ name, description: how, ...(!isMet && { skip: true }) })),
    // Most tests wait for other processes more than they compute.
    maxWorkers: 4,
    projects: [
      {
        extends: true,
        test: {
          ...settings,
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{long,compose,containers,clients}/**', 'test/chaos/*.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          ...settings,
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          exclude: alone,
          testTimeout: 300_000,
          maxWorkers: 4,
        },
      },
      {
        extends: true,
        test: {
          ...settings,
          name: 'alone',
          include: alone,
          testTimeout: 300_000,
          fileParallelism: false,
          // After the other long ones.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...settings,
          name: 'chaos',
          include: ['test/chaos/*.test.ts'],
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          ...settings,
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          testTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'compose',
          expect: settings.expect,
          globalSetup: ['test/compose/set-up.ts'],
          setupFiles: settings.setupFiles,
          include: [
            'test/compose/**/*.test.ts',
            'test/integration/sdks/{openai,anthropic}-sdk.test.ts',
            'test/integration/sdks/openai-responses*.test.ts',
          ],
          // The SDKs' own tests need nothing of Docker, and run with the quick ones, too.
          exclude: needs.some(({ name, isMet }) => name === 'docker' && !isMet) ? ['test/integration/**'] : [],
          testTimeout: 180_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'containers',
          expect: settings.expect,
          globalSetup: ['test/containers/set-up.ts'],
          setupFiles: settings.setupFiles,
          include: ['test/containers/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
