import { FileInput, Modal, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { useChange } from '../../api/use-api.ts';
import { UploadBar, useUpload, type ChosenFile } from '../../parts/upload.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';

const purposes = [
  { value: 'batch', label: 'Requests of a batch' },
  { value: 'user_data', label: 'Content that requests refer to' },
];

export interface UploadFileProps {
  opened: boolean;
  onClose: () => void;
  onUploaded: () => void;
}

export function UploadFile({ opened, onClose, onUploaded }: UploadFileProps) {
  const [file, setFile] = useState<File | null>(null);
  const [purpose, setPurpose] = useState('batch');
  const { api, share, createSignal, upload, cancel } = useUpload();
  const sendFile = useChange((chosen: ChosenFile) => upload(chosen, purpose), ['/files']);
  const close = (): void => {
    cancel();
    sendFile.reset();
    setFile(null);
    onClose();
  };
  const onSubmit = (): void => {
    if (!file) return;
    const onSuccess = (): void => {
      close();
      onUploaded();
    };
    sendFile.mutate({ file, signal: createSignal() }, { onSuccess });
  };
  return (
    <Modal opened={opened} onClose={close} title="Upload a file" closeOnClickOutside={!sendFile.isPending}>
      <DialogForm
        change={sendFile}
        failure="The file was not uploaded"
        action="Upload"
        isReady={file !== null && api !== undefined}
        onSubmit={onSubmit}
        onCancel={close}
      >
        <Text size="sm">The file belongs to you. Keys of your teams cannot use it.</Text>
        <FileInput label="File" placeholder="Choose a file" required value={file} onChange={setFile} />
        <Select
          label="Purpose"
          data={purposes}
          value={purpose}
          allowDeselect={false}
          onChange={(chosen) => setPurpose(chosen ?? 'batch')}
        />
        <UploadBar share={share} />
      </DialogForm>
    </Modal>
  );
}
