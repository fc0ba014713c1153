import type { Environment } from '#shared/core/load-config.ts';
import { findLocalEngines, listsModels, namedEngines } from '../../up/workers/find-engines.ts';
import { findServer, serverPrograms, type ServerKind } from '../../up/servers/find-server.ts';
import { isPortFree } from '../../up/servers/free-port.ts';
import { planWorkers, type Findings } from '../../up/workers/plan-workers.ts';
import type { Diagnosis } from './diagnosis.ts';
import { diagnoseCredential, type CredentialQuestion } from './diagnose-credential.ts';
import { readWorkers } from '../../up/read-health.ts';

export interface DoctorOptions {
  environment: Environment;
  port: number;
  host: string;
  natsUrl: string | undefined;
  /** A credential for NATS that is to be looked at too. */
  credential?: CredentialQuestion | undefined;
  redisUrl: string | undefined;
  engineUrls: readonly string[];
  findings: Findings;
}

/** Looks at this machine as `rtr up` would, starts nothing, and says what there is, what is missing, and why. */
export async function diagnose(options: DoctorOptions): Promise<Diagnosis[]> {
  const { natsUrl, redisUrl, environment, findings } = options;
  return [
    { subject: 'node', state: 'ok', told: process.version },
    await diagnoseServer('nats', natsUrl, environment['PATH']),
    ...(options.credential ? [await diagnoseCredential(options.credential)] : []),
    await diagnoseServer('redis', redisUrl, environment['PATH']),
    await diagnosePort(options),
    ...(await diagnoseEngines(options)),
    ...diagnosePlan(findings),
  ];
}

async function diagnoseServer(kind: ServerKind, url: string | undefined, path: string | undefined): Promise<Diagnosis> {
  // The address may carry a password.
  if (url !== undefined) return { subject: kind, state: 'info', told: `an address is given: ${hostsOf(url)}` };
  const program = await findServer(kind, path);
  if (program !== undefined) return { subject: kind, state: 'ok', told: program };
  const told = `none of ${serverPrograms[kind].join(', ')} is installed: \`rtr up\` installs it where that needs no password`;
  return { subject: kind, state: 'missing', told };
}

function hostsOf(urls: string): string {
  return urls
    .split(',')
    .map((url) => URL.parse(url.trim())?.host ?? 'not a URL')
    .join(', ');
}

async function diagnosePort({ port, host }: DoctorOptions): Promise<Diagnosis> {
  const subject = `port ${port}`;
  if (await isPortFree(port, host)) return { subject, state: 'ok', told: 'free' };
  const workers = await readWorkers(`http://127.0.0.1:${port}`);
  if (!workers) return { subject, state: 'missing', told: 'taken by another program: choose another one with PORT' };
  const counts = Object.entries(workers).map(([tier, count]) => `${count} ${tier}`);
  return { subject, state: 'info', told: `a router runs here, with workers: ${counts.join(', ')}` };
}

async function diagnoseEngines({ port, engineUrls, findings }: DoctorOptions): Promise<Diagnosis[]> {
  const named = namedEngines([...engineUrls, ...findings.registry.engines]);
  const local = await findLocalEngines([port]);
  const answers = await Promise.all(named.map(({ url }) => listsModels(url)));
  const told: Diagnosis[] = [
    ...named.map(({ url }, at): Diagnosis => {
      const answered = answers[at] === true;
      return { subject: 'engine', state: answered ? 'ok' : 'missing', told: answered ? url : `${url} does not answer` };
    }),
    ...local.map(({ origin, url }): Diagnosis => ({ subject: 'engine', state: 'ok', told: `${url} (${origin})` })),
  ];
  return told.length > 0 ? told : [{ subject: 'engine', state: 'info', told: 'none found at the usual ports' }];
}

function diagnosePlan(findings: Findings): Diagnosis[] {
  const { ready, unready } = planWorkers(findings);
  return [
    ...ready.map(({ tier, told }): Diagnosis => ({ subject: tier, state: 'ok', told })),
    ...unready.map(({ tier, told }): Diagnosis => ({ subject: tier, state: 'missing', told })),
  ];
}
