using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;
using Cairn.Collections;
using Cairn.Encryption;
using Cairn.Indexing;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Tests.Storage;

/// <summary>docs/file-format.md and docs/reference/log-format.md describe the same bytes as the structures in the code.</summary>
public sealed partial class FileFormatDocumentTests
{
    private static readonly Dictionary<string, (Type Structure, int Bytes)> Structures = new(StringComparer.Ordinal)
    {
        ["Superblock"] = (typeof(Superblock), StoreLayout.SuperblockBytes),
        ["Log block"] = (typeof(LogBlock), LogBlock.Bytes),
        ["Key block"] = (typeof(KeyBlock), KeyBlock.Bytes),
        ["Collections"] = (typeof(CollectionRecord), StoreLayout.CollectionRecordBytes),
        ["Partition block"] = (typeof(PartitionBlock), PartitionBlock.RingOffset),
        ["Owner record"] = (typeof(OwnerRecord), OwnerRecord.FixedBytes),
        ["Segment header"] = (typeof(SegmentHeader), StoreLayout.SegmentHeaderBytes),
        ["Index bucket and slot"] = (typeof(Bucket), StoreLayout.BucketBytes),
        ["File header"] = (typeof(LogFileHeader), LogFileHeader.PageBytes),
    };

    public static TheoryData<string> Sections => [.. Structures.Keys];

    [Theory]
    [MemberData(nameof(Sections))]
    public void Every_field_stands_in_the_document_where_it_is_in_the_file(string section)
    {
        List<Row> rows = RowsOf(section);

        IEnumerable<Row> fields = Structures[section].Structure
            .GetFields(BindingFlags.Instance | BindingFlags.Public)
            .Select(field => new Row((int)Marshal.OffsetOf(Structures[section].Structure, field.Name), SizeOf(field), field.Name));

        Assert.Equal(fields.OrderBy(row => row.Offset), rows.Where(row => char.IsUpper(row.Name[0])));
    }

    [Theory]
    [MemberData(nameof(Sections))]
    public void Rows_leave_no_byte_out(string section)
    {
        int end = 0;
        foreach (Row row in RowsOf(section))
        {
            Assert.Equal(end, row.Offset);
            end += row.Bytes;
        }

        Assert.Equal(Structures[section].Bytes, end);
    }

    // Rows whose size is a number. The others describe the bytes after the structure.
    private static List<Row> RowsOf(string section)
    {
        string document = File.ReadAllText(RepositoryFile.At("docs", "file-format.md"))
            + File.ReadAllText(RepositoryFile.At("docs", "reference", "log-format.md"));
        string text = document.Split("\n## ").Single(part => part.StartsWith(section + "\n", StringComparison.Ordinal));
        string table = text.Split("| offset | bytes | field | meaning |\n")[1].Split("\n\n")[0];
        return
        [
            .. TableRow().Matches(table).Select(match => new Row(
                int.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture),
                int.Parse(match.Groups[2].Value, CultureInfo.InvariantCulture),
                match.Groups[3].Value)),
        ];
    }

    private static int SizeOf(FieldInfo field) =>
        field.FieldType.IsEnum ? Marshal.SizeOf(Enum.GetUnderlyingType(field.FieldType))
        : field.GetCustomAttribute<FixedBufferAttribute>() is { } buffer
            ? buffer.Length * Marshal.SizeOf(buffer.ElementType)
            : Marshal.SizeOf(field.FieldType);

    [GeneratedRegex(@"^\| (\d+) \| (\d+) \| `?(\w+)`? \|", RegexOptions.Multiline)]
    private static partial Regex TableRow();

    private sealed record Row(int Offset, int Bytes, string Name);
}
