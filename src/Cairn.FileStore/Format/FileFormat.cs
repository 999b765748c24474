// The text of a cache file, as docs/reference/readable-file-format.md has it:
//
//   {"format":"cairn.filestore/1","entries":[
//   {"key":"a","value":"text"},
//   {"key":"b","value":{"MyInt":3},"expires":"2030-01-01T00:00:00.0000000Z"},
//   {"key":"c","bytes":"AAEC"},
//   {"key":"a","removed":true}
//   ]}
//
//   F1  Lines stand in the order of their changes; the last one about a key counts.
//   F2  A change is appended in place of the closing brackets, in one write. So a file that ends before its closing brackets
//       was cut short, and what is complete in it is what was there before the change that was cut.
//   F3  Written text is UTF-8 without a byte-order mark, one entry a line, no line feed within. Read, any JSON of this shape
//       will do: spacing, order of properties, escapes, a byte-order mark.
namespace Cairn.FileStore.Format;

internal static class FileFormat
{
    /// <summary>Deepest nesting of a value; a file made to be deep must not exhaust the stack.</summary>
    public const int DeepestValue = 512;

    /// <summary>Bytes of the line of an entry whose key and value are empty, with what separates it from the next.</summary>
    public const int ShortestLine = 23;

    public static ReadOnlySpan<byte> Header => "{\"format\":\"cairn.filestore/1\",\"entries\":["u8;

    public static ReadOnlySpan<byte> Name => "cairn.filestore/1"u8;

    /// <summary>What follows the last entry.</summary>
    public static ReadOnlySpan<byte> Closing => "\n]}\n"u8;

    public static ReadOnlySpan<byte> FirstSeparator => "\n"u8;

    public static ReadOnlySpan<byte> Separator => ",\n"u8;
}
