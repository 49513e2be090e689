import S3rver from 's3rver';
import { temporaryFolder } from './folder.ts';

export interface Bucket {
  /** settings by which a service keeps its files there */
  environment: Record<string, string>;
  stop(): Promise<void>;
}

/** An S3 server on loopback with one empty bucket. */
export async function bucket(): Promise<Bucket> {
  const kept = await temporaryFolder();
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: kept.folder,
    configureBuckets: [{ name: 'field', configs: [] }],
  });
  const { port } = await server.run();
  return {
    environment: {
      S3_BUCKET: 'field',
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_ACCESS_KEY_ID: 'S3RVER',
      S3_SECRET_ACCESS_KEY: 'S3RVER',
    },
    async stop() {
      await server.close();
      await kept.remove();
    },
  };
}
