import { loadConfig } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { demoEngineSettings } from './config.ts';
import { startDemoEngine } from './start-demo-engine.ts';

const config = loadConfig(demoEngineSettings, process.env);
const log = createLog({ service: 'demo-engine', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
const engine = await startDemoEngine(config, (err) => log.error({ err }, 'a request failed unexpectedly'));
log.info({ url: engine.url }, `demo engine listens at ${engine.url}`);

/** There is nothing to lose here: open answers are cut, so that a stop takes no time. */
const stop = async (): Promise<void> => {
  await engine.close();
  log.info('demo engine stopped');
};
process.once('SIGTERM', () => void stop());
process.once('SIGINT', () => void stop());
