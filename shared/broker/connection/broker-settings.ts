import { setting } from '#shared/core/load-config.ts';

/** The settings of every process that connects to the broker. */
export const brokerSettings = {
  NATS_URL: setting.text(
    'Addresses of NATS, separated by commas: `nats://`, `tls://`, or `wss://` through HTTPS',
    'nats://127.0.0.1:4222',
  ),
  NATS_CREDENTIALS: setting.optionalText('File with the credential for NATS, created by `rtr credentials`'),
  NATS_CA: setting.optionalText(
    "File with CA certificates (PEM) to trust for NATS, in addition to the public ones and the credential's own",
  ),
};
