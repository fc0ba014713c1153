import type { Environment } from '#shared/core/load-config.ts';
import { findLocalEngines, listsModels, listNamedEngines } from '../../up/workers/find-engines.ts';
import { findServer, serverPrograms, type ServerKind } from '../../up/servers/find-server.ts';
import { isPortFree } from '../../up/servers/free-port.ts';
import { planWorkers, type Findings } from '../../up/workers/plan-workers.ts';
import type { Diagnosis } from './diagnosis.ts';
import { diagnoseCredential, type CredentialToDiagnose } from './diagnose-credential.ts';
import { diagnoseStore, type StoreToDiagnose } from './diagnose-store.ts';
import { readWorkers } from '../../up/read-health.ts';

export interface DoctorOptions {
  environment: Environment;
  port: number;
  host: string;
  natsUrl: string | undefined;
  credential?: CredentialToDiagnose | undefined;
  redisUrl: string | undefined;
  store?: StoreToDiagnose | undefined;
  engineUrls: readonly string[];
  findings: Findings;
}

/** Checks whether this machine has everything that `rtr up` needs, and reports what is missing and why. Starts nothing. */
export async function diagnose(options: DoctorOptions): Promise<Diagnosis[]> {
  const { natsUrl, redisUrl, environment, findings } = options;
  return [
    { subject: 'node', state: 'ok', detail: process.version },
    await diagnoseServer('nats', natsUrl, environment['PATH']),
    ...(options.credential ? [await diagnoseCredential(options.credential)] : []),
    await diagnoseServer('redis', redisUrl, environment['PATH']),
    ...(options.store ? [await diagnoseStore(options.store)] : []),
    await diagnosePort(options),
    ...(await diagnoseEngines(options)),
    ...diagnosePlan(findings),
  ];
}

async function diagnoseServer(kind: ServerKind, url: string | undefined, path: string | undefined): Promise<Diagnosis> {
  // Only the hosts are shown, because the address may contain a password.
  if (url !== undefined) return { subject: kind, state: 'info', detail: `the address is set: ${listHosts(url)}` };
  const program = await findServer(kind, path);
  if (program !== undefined) return { subject: kind, state: 'ok', detail: program };
  const detail = `none of ${serverPrograms[kind].join(', ')} is installed; \`rtr up\` installs it if that needs no password`;
  return { subject: kind, state: 'missing', detail };
}

function listHosts(urls: string): string {
  return urls
    .split(',')
    .map((url) => URL.parse(url.trim())?.host ?? 'not a URL')
    .join(', ');
}

async function diagnosePort({ port, host }: DoctorOptions): Promise<Diagnosis> {
  const subject = `port ${port}`;
  if (await isPortFree(port, host)) return { subject, state: 'ok', detail: 'free' };
  const workers = await readWorkers(`http://127.0.0.1:${port}`);
  if (!workers)
    return { subject, state: 'missing', detail: 'in use by another program: choose another port with PORT' };
  const counts = Object.entries(workers).map(([tier, count]) => `${count} ${tier}`);
  return { subject, state: 'info', detail: `a router runs here, with workers: ${counts.join(', ')}` };
}

async function diagnoseEngines({ port, engineUrls, findings }: DoctorOptions): Promise<Diagnosis[]> {
  const namedEngines = listNamedEngines([...engineUrls, ...findings.registry.engines]);
  const localEngines = await findLocalEngines([port]);
  const answers = await Promise.all(namedEngines.map(({ url }) => listsModels(url)));
  const diagnoses: Diagnosis[] = [
    ...namedEngines.map(({ url }, index): Diagnosis => {
      const isAnswering = answers[index] === true;
      return {
        subject: 'engine',
        state: isAnswering ? 'ok' : 'missing',
        detail: isAnswering ? url : `${url} does not answer`,
      };
    }),
    ...localEngines.map(({ origin, url }): Diagnosis => ({
      subject: 'engine',
      state: 'ok',
      detail: `${url} (${origin})`,
    })),
  ];
  return diagnoses.length > 0
    ? diagnoses
    : [{ subject: 'engine', state: 'info', detail: 'none found on the default ports' }];
}

function diagnosePlan(findings: Findings): Diagnosis[] {
  const { ready, unready } = planWorkers(findings);
  return [
    ...ready.map(({ tier, detail }): Diagnosis => ({ subject: tier, state: 'ok', detail })),
    ...unready.map(({ tier, detail }): Diagnosis => ({ subject: tier, state: 'missing', detail })),
  ];
}
