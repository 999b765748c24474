namespace Cairn.Cli.Output;

/// <summary>Standard input, whose reads wait on another thread, so that an interruption need not wait for the next input.</summary>
internal sealed class InterruptibleInput(Stream input, CancellationToken interruption) : SequentialStream
{
    public override bool CanRead => true;

    public override bool CanWrite => false;

    public override int Read(byte[] buffer, int offset, int count)
    {
        // The reader that is left behind ends with the process; nobody uses the buffer after an interruption.
        Task<int> read = Task.Run(() => input.Read(buffer, offset, count));
#pragma warning disable VSTHRD002 // The tool has no synchronization context that this could wait for.
        read.Wait(interruption);
        return read.GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
    }

    public override void Flush()
    {
        // There is nothing to write.
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
