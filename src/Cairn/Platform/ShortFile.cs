using Cairn.Messages;

namespace Cairn.Platform;

/// <summary>Reads small files that a user names, such as keys, users and settings. A device or a wrong file must not fill the memory.</summary>
internal static class ShortFile
{
    private const int LongestSettingsBytes = 16 << 20;

    /// <summary>Reads a whole file.</summary>
    /// <exception cref="IOException">The file cannot be read, or is longer.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read the file, or it is a directory.</exception>
    public static byte[] ReadBytes(string path, int longestBytes = LongestSettingsBytes)
    {
        using var file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete, bufferSize: 0);
        byte[] buffer = new byte[Math.Min(longestBytes, 4095) + 1];
        int length = 0;
        while (file.ReadAtLeast(buffer.AsSpan(length), buffer.Length - length, throwOnEndOfStream: false) is var read && (length += read) == buffer.Length)
        {
            if (length > longestBytes)
            {
                throw new IOException($"it is longer than {ByteText.Of(longestBytes)}, so it is probably not the file that was meant");
            }

            Array.Resize(ref buffer, (int)Math.Min(longestBytes + 1L, length * 2L));
        }

        return buffer[..length];
    }

    /// <summary>Reads the text of a file. Its first bytes can name the encoding; otherwise it is UTF-8.</summary>
    /// <inheritdoc cref="ReadBytes"/>
    public static string ReadText(string path)
    {
        using var reader = new StreamReader(new MemoryStream(ReadBytes(path)));
        return reader.ReadToEnd();
    }
}
