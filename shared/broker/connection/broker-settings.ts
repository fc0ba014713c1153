import { setting } from '#shared/core/load-config.ts';

/** The settings of everything that connects to the broker. */
export const brokerSettings = {
  NATS_URL: setting.text(
    'Addresses of the broker, separated by commas: `nats://`, `tls://`, or `wss://` through HTTPS.',
    'nats://127.0.0.1:4222',
  ),
  NATS_CREDENTIALS: setting.optionalText('File with the credential for the broker, made by `rtr credentials`.'),
  NATS_CA: setting.optionalText(
    "File with certificates (PEM) that may have signed the broker's, besides the public ones and the credential's own.",
  ),
};
