using System.Text;

namespace Cairn.FileStore.Format;

internal static class JsonLayout
{
    /// <summary>Valid JSON without the white space between its parts.</summary>
    public static string OnOneLine(string json)
    {
        var text = new StringBuilder(json.Length);
        bool isInString = false;
        for (int i = 0; i < json.Length; i++)
        {
            char unit = json[i];
            if (isInString)
            {
                text.Append(unit);
                if (unit == '\\')
                {
                    text.Append(json[++i]); // Valid, so something follows.
                }
                else if (unit == '"')
                {
                    isInString = false;
                }
            }
            else if (unit is not (' ' or '\n' or '\r' or '\t'))
            {
                text.Append(unit);
                isInString = unit == '"';
            }
        }

        return text.ToString();
    }
}
