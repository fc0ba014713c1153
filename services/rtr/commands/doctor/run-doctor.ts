import type { Role } from '#shared/broker/connection/credential.ts';
import { loadConfig, type Environment } from '#shared/core/load-config.ts';
import { refuseRemovedSettings } from '#shared/core/removed-settings.ts';
import { clusterSettings, upSettings } from '../../config.ts';
import type { Findings } from '../../up/workers/plan-workers.ts';
import { findCredentialToDiagnose } from './diagnose-credential.ts';
import { formatDiagnoses } from './diagnosis.ts';
import { diagnose } from './doctor.ts';

export interface DoctorContext {
  environment: Environment;
  /** The data folder. */
  folder: string;
  /** Finds the providers and command-line agents of this machine, and reads the registry file. */
  collectFindings: (registryFile: string | undefined) => Promise<Findings>;
  print: (text: string) => void;
}

/** Runs `rtr doctor`: diagnoses this machine for the settings of `rtr up`, and prints what is missing. */
export async function runDoctor(
  options: { role?: Role; json?: true },
  { environment, folder, collectFindings, print }: DoctorContext,
): Promise<void> {
  refuseRemovedSettings(environment);
  const config = loadConfig(upSettings, { ...environment, NATS_URL: undefined, NATS_URL_FILE: undefined });
  const { PORT: port, HOST: host, REDIS_URL: redisUrl, ENGINE_URLS: engineUrls } = config;
  const servers = loadConfig(clusterSettings, environment);
  const { NATS_URL: natsUrl } = servers;
  const credential = findCredentialToDiagnose(servers, folder, options.role);
  const { RTR_PREFIX: prefix, REDIS_CA: redisCa } = config;
  const store = redisUrl === undefined ? undefined : { redisUrl, redisCa, prefix, port };
  const findings = await collectFindings(config.ROUTER_CONFIG);
  const diagnoses = await diagnose({
    environment,
    port,
    host,
    natsUrl,
    credential,
    redisUrl,
    store,
    engineUrls,
    findings,
  });
  print(options.json ? JSON.stringify(diagnoses) : formatDiagnoses(diagnoses));
}
