using Spectre.Console;

namespace Cairn.Cli.Reports;

/// <summary>Renders the output of Spectre.Console as text with control sequences.</summary>
internal static class TerminalPicture
{
    public static string Draw(int width, Action<IAnsiConsole> write)
    {
        var text = new StringWriter(CultureInfo.InvariantCulture);
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = AnsiSupport.Yes,
            ColorSystem = ColorSystemSupport.Standard,
            Interactive = InteractionSupport.No,
            Out = new AnsiConsoleOutput(text),
        });
        console.Profile.Width = width;
        write(console);
        return text.ToString();
    }

    /// <summary>Returns a picture that is drawn over the previous one and cut to the size of the terminal. The last line is always visible.</summary>
    public static string Over(string picture, string lastLine, int width, int height)
    {
        string last = $"\e[2m{lastLine[..Math.Min(lastLine.Length, width)]}\e[0m";
        IEnumerable<string> shown = picture.TrimEnd('\n').Split('\n').Take(height - 1).Append(last);

        // Each line erases the rest of the previous line, and the end erases the lines below.
        return $"\e[H{string.Join("\e[K\n", shown)}\e[K\e[J";
    }
}
