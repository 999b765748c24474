using System.Security.Cryptography;
using Cairn.Platform;

namespace Cairn.Cli.Arguments;

/// <summary>Reads keys and passwords from files, because every user of the machine can see a command line.</summary>
internal static class SecretFile
{
    // A longer file was named by mistake. The limit avoids reading it to its end.
    private const int LongestFile = 64 * 1024;

    /// <summary>Reads a key: 32 bytes, or their 64 hexadecimal digits.</summary>
    /// <exception cref="ToolException">The file cannot be read, or contains something else.</exception>
    public static StoreEncryption ReadKey(string path)
    {
        byte[] bytes = Read(path);
        if (bytes.Length != StoreEncryption.KeyBytes)
        {
            string digits = Encoding.ASCII.GetString(bytes).Trim();
            bytes = digits.Length == 2 * StoreEncryption.KeyBytes && digits.All(char.IsAsciiHexDigit)
                ? Convert.FromHexString(digits)
                : throw new ToolException(
                    ExitCode.File, $"the key file '{path}' must hold {StoreEncryption.KeyBytes} bytes, or their {2 * StoreEncryption.KeyBytes} hexadecimal digits");
        }

        StoreEncryption key = StoreEncryption.FromKey(bytes);
        CryptographicOperations.ZeroMemory(bytes);
        return key;
    }

    /// <summary>Reads a password, the first line of the file.</summary>
    /// <exception cref="ToolException">The file cannot be read, or its first line is empty or not text.</exception>
    public static StoreEncryption ReadPassword(string path)
    {
        string text;
        try
        {
            text = new UTF8Encoding(false, throwOnInvalidBytes: true).GetString(Read(path));
        }
        catch (DecoderFallbackException failure)
        {
            throw new ToolException(ExitCode.File, $"the password file '{path}' is not text in UTF-8", failure);
        }

        string line = text.Split('\n')[0].TrimEnd('\r');
        return line.Length > 0
            ? StoreEncryption.FromPassword(line)
            : throw new ToolException(ExitCode.File, $"the first line of the password file '{path}' is empty");
    }

    private static byte[] Read(string path)
    {
        try
        {
            return ShortFile.ReadBytes(path, LongestFile);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw new ToolException(ExitCode.File, $"'{path}' cannot be read: {failure.Message}", failure);
        }
    }
}
