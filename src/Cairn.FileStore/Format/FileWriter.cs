using Cairn.FileStore.Entries;

namespace Cairn.FileStore.Format;

/// <summary>Writes whole files.</summary>
internal static class FileWriter
{
    /// <summary>Appends a whole file with these entries, and sets the line length of each entry.</summary>
    public static void Write(ArrayBufferWriter<byte> target, ReadOnlySpan<Entry> entries)
    {
        target.Write(FileFormat.Header);
        bool isFirst = true;
        foreach (Entry entry in entries)
        {
            target.Write(isFirst ? FileFormat.FirstSeparator : FileFormat.Separator);
            isFirst = false;
            entry.LineBytes = EntryWriter.Write(target, entry) + FileFormat.Separator.Length;
        }

        target.Write(FileFormat.Closing);
    }
}
