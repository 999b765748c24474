namespace Cairn.Cli.Output;

/// <summary>A stream that decodes UTF-8 and writes it to a text writer, for JSON on standard error.</summary>
internal sealed class TextWriterStream(TextWriter writer) : WriteOnlyStream
{
    public override void Write(byte[] buffer, int offset, int count) => writer.Write(Encoding.UTF8.GetString(buffer, offset, count));

    public override void Flush() => writer.Flush();
}
