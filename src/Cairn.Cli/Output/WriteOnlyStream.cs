namespace Cairn.Cli.Output;

/// <summary>A write-only stream.</summary>
internal abstract class WriteOnlyStream : SequentialStream
{
    public override bool CanRead => false;

    public override bool CanWrite => true;

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
