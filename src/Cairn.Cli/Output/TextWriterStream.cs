using System.Text;

namespace Cairn.Cli.Output;

/// <summary>A text writer that takes UTF-8, for JSON that goes where messages go.</summary>
internal sealed class TextWriterStream(TextWriter writer) : WriteOnlyStream
{
    public override void Write(byte[] buffer, int offset, int count) => writer.Write(Encoding.UTF8.GetString(buffer, offset, count));

    public override void Flush() => writer.Flush();
}
