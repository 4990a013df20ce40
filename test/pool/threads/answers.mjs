export default async ({ job }) => ({ ok: true, output: job.input, ms: 0 });
