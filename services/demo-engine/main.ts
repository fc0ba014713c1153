import { loadConfig } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { runService } from '#shared/core/run-service.ts';
import { demoEngineSettings } from './config.ts';
import { startDemoEngine } from './start-demo-engine.ts';

await runService(async (environment, releases) => {
  const config = loadConfig(demoEngineSettings, environment);
  const log = createLog({ service: 'demo-engine', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  const engine = await startDemoEngine(config, (err) => log.error({ err }, 'a request failed unexpectedly'));
  releases.add('demo engine', () => engine.close());
  log.info({ url: engine.url }, 'demo engine is ready');
});
