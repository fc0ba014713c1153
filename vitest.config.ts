import { defineConfig } from 'vitest/config';

const expect = { requireAssertions: true };
const settings = {
  globalSetup: ['test/helpers/global-setup.ts'],
  // Ends what hangs; a busy machine takes several times as long as a quiet one.
  testTimeout: 40_000,
  hookTimeout: 60_000,
  expect,
};

/**
 * Long tests that wait for other processes most of the time, and measure nothing: two files of them run at once. The rest measures, looks
 * for what others leave behind, or takes the whole machine.
 */
const waiting = [
  ...['background', 'batches', 'integration', 'services/rtr/client', 'sign-in', 'translate'].map(
    (folder) => `test/long/${folder}/**/*.test.ts`,
  ),
  'test/long/console/!(first-page|many-accounts).test.ts',
  'test/long/ingress/killed-ingress-reservations.test.ts',
  'test/long/{browser-apps,claude-*,clean-cli-workers,cli-*,codex-*,coding-agents,files,gemini-tools,opencode-tools,purposes,web-search}.test.ts',
];

export default defineConfig({
  test: {
    // Most tests wait for other processes more than they compute.
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...settings,
          name: 'quick',
          // Test files share processes: one for each file would cost a quarter of the time.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: ['test/long/**', 'test/compose/**', 'test/clients/**', 'test/chaos/*.test.ts'],
        },
      },
      {
        test: {
          ...settings,
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          exclude: waiting,
          testTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...settings,
          name: 'waiting',
          include: waiting,
          testTimeout: 300_000,
          maxWorkers: 2,
          // After the other long ones.
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...settings,
          name: 'chaos',
          include: ['test/chaos/*.test.ts'],
          fileParallelism: false,
        },
      },
      {
        test: {
          ...settings,
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          testTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'compose',
          expect,
          globalSetup: ['test/compose/set-up.ts'],
          include: [
            'test/compose/**/*.test.ts',
            'test/integration/sdks/{openai,anthropic}-sdk.test.ts',
            'test/integration/sdks/openai-responses*.test.ts',
          ],
          testTimeout: 180_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
