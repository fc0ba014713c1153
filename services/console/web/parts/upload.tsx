import { useRef, useState } from 'react';
import type { RouterFacts } from '../../contract/live.ts';
import { ApiFailure } from '../api/call-api.ts';
import { sendForm } from '../api/send-form.ts';
import { useApi } from '../api/use-api.ts';
import type { WebBatches } from '../formats/web-format.ts';
import { findServedFormats } from '../formats/web-formats.ts';
import { Progress, Text } from '@mantine/core';

/** A file to upload, and a signal of `createSignal` that ends the upload. */
export interface ChosenFile {
  file: File;
  signal: AbortSignal;
}

export interface UploadControl {
  /**
   * The API that takes files and creates batches of them. Undefined while the formats of the router are loading, and if no format takes
   * files.
   */
  api: (WebBatches & { base: string }) | undefined;
  /** The share of the file that is sent, from 0 to 1; undefined while nothing is uploaded. */
  share: number | undefined;
  /** Returns a new signal, which `cancel` aborts. */
  createSignal: () => AbortSignal;
  /**
   * Uploads a file.
   * @throws ApiFailure
   */
  upload: (chosen: ChosenFile, purpose: string) => Promise<{ id: string }>;
  cancel: () => void;
}

/** Uploads one file at a time at the API of a format that has files. */
export function useUpload(): UploadControl {
  const routerFacts = useApi<RouterFacts>('/about');
  const [share, setShare] = useState<number>();
  const lastController = useRef<AbortController>(undefined);
  const format = routerFacts.data && findServedFormats(routerFacts.data).find(({ batches }) => batches !== undefined);
  const api = format?.batches && { ...format.batches, base: format.base };
  const upload: UploadControl['upload'] = async ({ file, signal }, purpose) => {
    if (!api) throw new ApiFailure(0, 'no_files', 'This router takes no files.');
    const form = new FormData();
    form.append('purpose', purpose);
    form.append('file', file);
    setShare(0);
    try {
      return await sendForm<{ id: string }>(`${api.base}${api.filesPath}`, form, { onProgress: setShare, signal });
    } finally {
      setShare(undefined);
    }
  };
  return {
    api,
    share,
    createSignal: () => {
      lastController.current = new AbortController();
      return lastController.current.signal;
    },
    upload,
    cancel: () => lastController.current?.abort(),
  };
}

/**
 * Shows how much of an upload is sent.
 * @param share from 0 to 1; undefined while nothing is uploaded
 */
export function UploadBar({ share }: { share: number | undefined }) {
  if (share === undefined) return null;
  return (
    <div>
      <Progress value={share * 100} aria-label="Progress of the upload" />
      <Text size="xs" c="dimmed" className="numeric">
        {share < 1 ? `${Math.floor(share * 100)} % is sent` : 'being stored …'}
      </Text>
    </div>
  );
}
