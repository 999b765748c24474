namespace Cairn.FileStore.Format;

internal static class JsonLayout
{
    /// <summary>Returns JSON without the white space between its tokens. The input must be valid JSON in UTF-8.</summary>
    public static byte[] OnOneLine(ReadOnlySpan<byte> json)
    {
        var text = new byte[json.Length];
        int length = 0;
        bool isInString = false;
        for (int i = 0; i < json.Length; i++)
        {
            byte unit = json[i];
            if (isInString)
            {
                text[length++] = unit;
                if (unit == (byte)'\\')
                {
                    text[length++] = json[++i]; // The JSON is valid, so another byte follows.
                }
                else if (unit == (byte)'"')
                {
                    isInString = false;
                }
            }
            else if (unit is not ((byte)' ' or (byte)'\n' or (byte)'\r' or (byte)'\t'))
            {
                text[length++] = unit;
                isInString = unit == (byte)'"';
            }
        }

        Array.Resize(ref text, length);
        return text;
    }
}
