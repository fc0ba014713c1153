import { Code, FileInput, Modal, NumberInput, Text } from '@mantine/core';
import { useState } from 'react';
import { ApiFailure, callApi, createCsrfHeaders, fetchSameOrigin, readFailure } from '../../api/call-api.ts';
import { useChange } from '../../api/use-api.ts';
import { UploadBar, useUpload, type ChosenFile } from '../../parts/upload.tsx';
import { readEndpoint } from './read-endpoint.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';

const example = '{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {…}}';

/** Maximum number of hours until the unfinished requests of a batch expire. */
const maxHours = 168;

/** Number of hours that the form suggests. */
const defaultHours = 24;

export interface NewBatchProps {
  opened: boolean;
  onClose: () => void;
  onCreated: () => void;
}

/** Uploads a file of requests, and creates a batch of these requests for the signed-in person. */
export function NewBatch({ opened, onClose, onCreated }: NewBatchProps) {
  const [file, setFile] = useState<File | null>(null);
  const [hours, setHours] = useState<number | string>(defaultHours);
  const { api, share, createSignal, upload, cancel } = useUpload();
  const createBatch = useChange(uploadAndCreate, ['/batches', '/files']);
  const close = (): void => {
    cancel();
    createBatch.reset();
    setFile(null);
    setHours(defaultHours);
    onClose();
  };
  const onSubmit = (): void => {
    if (!file) return;
    const onSuccess = (): void => {
      close();
      onCreated();
    };
    createBatch.mutate({ file, signal: createSignal() }, { onSuccess });
  };
  return (
    <Modal opened={opened} onClose={close} title="New batch" size="lg" closeOnClickOutside={!createBatch.isPending}>
      <DialogForm
        change={createBatch}
        failure="The batch was not created"
        action="Create batch"
        isReady={file !== null && api !== undefined}
        onSubmit={onSubmit}
        onCancel={close}
      >
        <Text size="sm">The file has one request in each line. These requests count towards your limits.</Text>
        <Code block style={{ whiteSpace: 'pre-wrap' }}>
          {example}
        </Code>
        <FileInput
          label="File"
          placeholder="Choose a file of JSON lines"
          accept=".jsonl,.json,.txt"
          required
          value={file}
          onChange={setFile}
        />
        <NumberInput
          label="Hours until unfinished requests expire"
          min={1}
          max={maxHours}
          allowDecimal={false}
          required
          value={hours}
          onChange={setHours}
        />
        <UploadBar share={share} />
      </DialogForm>
    </Modal>
  );

  async function uploadAndCreate(chosen: ChosenFile): Promise<void> {
    const endpoint = await readEndpoint(chosen.file);
    if (!api || endpoint === undefined)
      throw new ApiFailure(0, 'no_request', 'The first line of the file is not a request of a batch.');
    const { id } = await upload(chosen, 'batch');
    const response = await fetchSameOrigin(`${api.base}${api.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...createCsrfHeaders() },
      body: JSON.stringify(api.buildCreation({ file: id, endpoint, hours: Number(hours) })),
    });
    if (response.ok) {
      // The person pressed Cancel while the batch was created.
      if (chosen.signal.aborted) await cancelBatch(((await response.json()) as { id: string }).id);
      return;
    }
    const failure = await readFailure(response);
    // Without a batch, nobody would look for the uploaded file.
    await fetchSameOrigin(`${api.base}${api.filesPath}/${id}`, {
      method: 'DELETE',
      headers: createCsrfHeaders(),
    }).catch(() => undefined);
    throw failure;
  }
}

function cancelBatch(id: string): Promise<unknown> {
  return callApi('POST', `/batches/${encodeURIComponent(id)}/cancel`);
}
