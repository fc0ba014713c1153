import { useState } from 'react';
import type { RouterFacts } from '../../contract/live.ts';
import { ApiFailure } from '../api/call-api.ts';
import { sendForm } from '../api/send-form.ts';
import { useApi } from '../api/use-api.ts';
import type { WebBatches } from '../formats/web-format.ts';
import { servedFormats } from '../formats/web-formats.ts';

export interface Uploading {
  /** The API that creates batches of the file; undefined until it is known, and if no format has files. */
  api: (WebBatches & { base: string }) | undefined;
  /** The sent share of the file, from 0 to 1; undefined while nothing is uploaded. */
  share: number | undefined;
  /**
   * Uploads a file.
   * @throws ApiFailure
   */
  upload: (file: File, purpose: string) => Promise<{ id: string }>;
  cancel: () => void;
}

/** Uploads one file at a time at the API of a format that has files. */
export function useUpload(): Uploading {
  const routerFacts = useApi<RouterFacts>('/about');
  const [sending, setSending] = useState<{ share: number; stop: AbortController }>();
  const format = routerFacts.data && servedFormats(routerFacts.data).find(({ batches }) => batches !== undefined);
  const api = format?.batches && { ...format.batches, base: format.base };
  const upload: Uploading['upload'] = async (file, purpose) => {
    if (!api) throw new ApiFailure(0, 'no_files', 'This router takes no files.');
    const stop = new AbortController();
    const form = new FormData();
    form.append('purpose', purpose);
    form.append('file', file);
    setSending({ share: 0, stop });
    try {
      const onProgress = (share: number): void => setSending({ share, stop });
      return await sendForm<{ id: string }>(`${api.base}${api.filesPath}`, form, { onProgress, signal: stop.signal });
    } finally {
      setSending(undefined);
    }
  };
  return { api, share: sending?.share, upload, cancel: () => sending?.stop.abort() };
}
