import { get } from 'node:http';

/*
 * The image's health check. It requests HEALTH_URL, by default /health on the component's admin port, and fails unless status 200 comes
 * within four seconds.
 */

const url = process.env.HEALTH_URL ?? `http://127.0.0.1:${process.env.ADMIN_PORT ?? 8485}/health`;
const request = get(url, { timeout: 4_000 }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1));
request.on('timeout', () => request.destroy(new Error('no answer')));
request.on('error', () => process.exit(1));
