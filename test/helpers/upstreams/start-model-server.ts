import { serveHttp, type HttpServer } from '../servers/serve-http.ts';

/** Starts a server that answers only `GET /v1/models`, and can be stopped and started on the same port. */
export async function startModelServer(models: string[]) {
  let asked = 0;
  let server: HttpServer | undefined;
  const self = {
    url: '',
    get asked() {
      return asked;
    },
    models,
    status: 200,
    start: async () => {
      server = await serveHttp(
        (request, response) => {
          const isKnown = request.url === '/v1/models';
          if (isKnown) asked += 1;
          response.writeHead(isKnown ? self.status : 404, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ object: 'list', data: self.models.map((id) => ({ id, object: 'model' })) }));
        },
        { wanted: server?.port ?? 0 },
      );
      self.url = server.url;
    },
    stop: async (): Promise<void> => server?.stop(),
  };
  await self.start();
  return self;
}

export type ModelServer = Awaited<ReturnType<typeof startModelServer>>;
