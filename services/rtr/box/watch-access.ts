import { setTimeout as sleep } from 'node:timers/promises';
import { readBrokerAccess } from '#shared/broker/connection/broker-settings.ts';
import { connectBroker, isCredentialRefusal, type Broker } from '#shared/broker/connection/connect-broker.ts';
import { createLog } from '#shared/core/log.ts';
import { BoxError, newLineHint } from './box-error.ts';
import { toBrokerUrl, type JoinedBox } from './box-state.ts';
import { checkCertificate } from './call-router.ts';

export interface AccessOptions {
  box: JoinedBox;
  /** File with one of the box's credentials. */
  credentialFile: string;
  say: (text: string) => void;
  /** Aborts when the box stops. */
  stop: AbortSignal;
}

/** Milliseconds for which one try to connect may last. */
const connectMs = 2_000;
/** Milliseconds between two tries to connect. */
const retryMs = 1_000;
/** Number of refusals in a row that count. A broker that is overloaded may refuse a valid credential once. */
const maxRefusals = 2;

/**
 * Watches whether the router still accepts the box, with a connection of its own to the broker. The workers cannot tell: to them, a router
 * that is away, a revoked credential and another certificate are all a connection that fails.
 * @returns when `stop` aborts
 * @throws BoxError `box_refused`
 */
export async function watchAccess(options: AccessOptions): Promise<void> {
  const { stop } = options;
  while (!stop.aborted) {
    const broker = await connectPatiently(options);
    if (!broker) return;
    const close = () => void broker.close();
    stop.addEventListener('abort', close, { once: true });
    // The box may have been stopped while it was connecting.
    if (!stop.aborted) await waitForLoss(broker);
    stop.removeEventListener('abort', close);
    await broker.close();
  }
}

/** Connects as soon as the router can be reached. Returns undefined if the box stops before. */
async function connectPatiently({ box, credentialFile, say, stop }: AccessOptions): Promise<Broker | undefined> {
  const { address, name } = box;
  const access = readBrokerAccess({ NATS_URL: toBrokerUrl(box), NATS_CREDENTIALS: credentialFile });
  const log = createLog({ service: 'rtr', level: 'silent', format: 'json' });
  let [refusals, hasSaid] = [0, false];
  while (!stop.aborted) {
    try {
      const broker = await connectBroker({ ...access, name: 'box', prefix: 'rtr', log, waitMs: connectMs });
      if (hasSaid) say(`${address} can be reached again.`);
      return broker;
    } catch (error) {
      await refuseOtherCertificate(box);
      refusals = isCredentialRefusal(error) ? refusals + 1 : 0;
      if (refusals === maxRefusals)
        throw new BoxError(
          'box_refused',
          `${address} does not accept ${name} any more: it was revoked, or has expired. To join again, ${newLineHint}.`,
          { cause: error },
        );
      if (refusals === 0 && !hasSaid) say(`${address} cannot be reached now: the box waits for it.`);
      hasSaid ||= refusals === 0;
    }
    await sleep(retryMs, undefined, { signal: stop }).catch(() => {});
  }
  return undefined;
}

/** @throws BoxError `box_refused` if another certificate answers */
async function refuseOtherCertificate(box: JoinedBox): Promise<void> {
  if (box.fingerprint === undefined) return;
  try {
    await checkCertificate(box);
  } catch (error) {
    if (!(error instanceof BoxError && error.code === 'certificate_changed')) return;
    throw new BoxError(
      'box_refused',
      `The certificate of ${box.address} has changed, so the box does not connect: another machine answers there, or the router has a new certificate; then ${newLineHint}.`,
      { cause: error },
    );
  }
}

/** Resolves when the connection is lost or closed, or the broker refuses the credential. */
async function waitForLoss(broker: Broker): Promise<void> {
  for await (const status of broker.nc.status()) {
    if (status.type === 'disconnect' || status.type === 'close') return;
    if (status.type === 'error' && isCredentialRefusal(status.error)) return;
  }
}
