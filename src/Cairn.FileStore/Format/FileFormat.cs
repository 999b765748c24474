// The text format of a cache file; docs/reference/readable-file-format.md describes it:
//
//   {"format":"cairn.filestore/2","entries":[
//   ["a","text"],
//   ["b",{"MyInt":3},"2030-01-01T00:00:00Z"],
//   {"key":"c","bytes":"AAEC"},
//   {"key":"a","removed":true}
//   ]}
//
//   F1  The lines are in the order of their changes; the last line about a key counts.
//   F2  A change is appended with one write, which starts at the closing brackets and ends with new ones. So a file without closing
//       brackets was truncated, and its complete lines are the content before the interrupted change.
//   F3  The writer produces UTF-8 without a byte-order mark, one entry per line, without line feeds inside an entry. The reader accepts
//       any JSON of this shape: other spacing, order of properties and escapes, and a byte-order mark.
//   F4  Version 1 had no entries in brackets. A program of that time must not find them behind its own header, so the first change of such
//       a file rewrites it.
namespace Cairn.FileStore.Format;

internal static class FileFormat
{
    /// <summary>The deepest nesting of a value. The limit prevents a malicious file from exhausting the stack.</summary>
    public const int DeepestValue = 512;

    /// <summary>The length in bytes of the line of an entry with an empty key and value, including the separator.</summary>
    public const int ShortestLine = 9;

    public const string Name = "cairn.filestore/2";

    public const string EarlierName = "cairn.filestore/1";

    public static ReadOnlySpan<byte> Header => "{\"format\":\"cairn.filestore/2\",\"entries\":["u8;

    /// <summary>Gets the header of version 1 (F4).</summary>
    public static ReadOnlySpan<byte> EarlierHeader => "{\"format\":\"cairn.filestore/1\",\"entries\":["u8;

    /// <summary>Gets the text after the last entry.</summary>
    public static ReadOnlySpan<byte> Closing => "\n]}\n"u8;

    public static ReadOnlySpan<byte> FirstSeparator => "\n"u8;

    public static ReadOnlySpan<byte> Separator => ",\n"u8;
}
