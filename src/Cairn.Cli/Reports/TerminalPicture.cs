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
}
