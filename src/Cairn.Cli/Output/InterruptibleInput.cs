namespace Cairn.Cli.Output;

/// <summary>Standard input. Its reads run on another thread, so that an interruption does not wait for further input.</summary>
internal sealed class InterruptibleInput(Stream input, CancellationToken interruption) : SequentialStream
{
    public override bool CanRead => true;

    public override bool CanWrite => false;

    public override int Read(byte[] buffer, int offset, int count)
    {
        // An abandoned read ends with the process, and its buffer is not used after an interruption.
        Task<int> read = Task.Run(() => input.Read(buffer, offset, count));
#pragma warning disable VSTHRD002 // The tool has no synchronization context that could deadlock.
        read.Wait(interruption);
        return read.GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
    }

    public override void Flush()
    {
        // The stream is read-only.
    }

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            input.Dispose();
        }

        base.Dispose(disposing);
    }
}
