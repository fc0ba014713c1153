import { useState } from 'react';
import type { RouterFacts } from '../../contract/live.ts';
import { ApiFailure } from '../api/call-api.ts';
import { sendForm } from '../api/send-form.ts';
import { useApi } from '../api/use-api.ts';
import type { WebBatches } from '../formats/web-format.ts';
import { findServedFormats } from '../formats/web-formats.ts';

export interface UploadControl {
  /**
   * The API that takes files and creates batches of them. Undefined while the formats of the router are loading, and if no format takes
   * files.
   */
  api: (WebBatches & { base: string }) | undefined;
  /** The share of the file that is sent, from 0 to 1; undefined while nothing is uploaded. */
  share: number | undefined;
  /**
   * Uploads a file.
   * @throws ApiFailure
   */
  upload: (file: File, purpose: string) => Promise<{ id: string }>;
  cancel: () => void;
}

/** Uploads one file at a time at the API of a format that has files. */
export function useUpload(): UploadControl {
  const routerFacts = useApi<RouterFacts>('/about');
  const [runningUpload, setRunningUpload] = useState<{ share: number; controller: AbortController }>();
  const format = routerFacts.data && findServedFormats(routerFacts.data).find(({ batches }) => batches !== undefined);
  const api = format?.batches && { ...format.batches, base: format.base };
  const upload: UploadControl['upload'] = async (file, purpose) => {
    if (!api) throw new ApiFailure(0, 'no_files', 'This router takes no files.');
    const controller = new AbortController();
    const form = new FormData();
    form.append('purpose', purpose);
    form.append('file', file);
    setRunningUpload({ share: 0, controller });
    try {
      const onProgress = (share: number): void => setRunningUpload({ share, controller });
      return await sendForm<{ id: string }>(`${api.base}${api.filesPath}`, form, {
        onProgress,
        signal: controller.signal,
      });
    } finally {
      setRunningUpload(undefined);
    }
  };
  return { api, share: runningUpload?.share, upload, cancel: () => runningUpload?.controller.abort() };
}
