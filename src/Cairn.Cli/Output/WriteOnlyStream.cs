namespace Cairn.Cli.Output;

/// <summary>A stream that only takes.</summary>
internal abstract class WriteOnlyStream : SequentialStream
{
    public override bool CanRead => false;

    public override bool CanWrite => true;

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
