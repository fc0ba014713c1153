import { get } from 'node:http';

/*
 * The image's health check. It requests HEALTH_URL (default: /health on the component's admin port) and succeeds if the answer has status
 * 200. It fails after four seconds without data.
 */

const url = process.env.HEALTH_URL ?? `http://127.0.0.1:${process.env.ADMIN_PORT ?? 8485}/health`;
const request = get(url, { timeout: 4_000 }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1));
request.on('timeout', () => request.destroy(new Error('no answer')));
request.on('error', () => process.exit(1));
