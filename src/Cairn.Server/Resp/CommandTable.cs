using Cairn.Server.Metrics;

namespace Cairn.Server.Resp;

// Finds commands by name without allocating. A name has up to sixteen letters, which are two words. The hash of the words is a place in a
// table four times as large as needed. Setting bit 5 converts letters to lower case and turns no other byte into a letter. Names consist
// of letters only.
internal sealed class CommandTable
{
    /// <summary>The name of the protocol in metrics.</summary>
    public const string Protocol = "resp";

    /// <summary>The number of requests that are no known command.</summary>
    public const int Unknown = RequestRecorder.Resp;

    private const int LongestName = 16;
    private const int Places = 1024;
    private const ulong LowerCase = 0x2020202020202020;

    private readonly (ulong Low, ulong High, CommandInfo? Command)[] _places = new (ulong, ulong, CommandInfo?)[Places];

    /// <summary>Creates the table, and gives each command its number.</summary>
    /// <param name="commands">The commands, by family.</param>
    /// <param name="scripts">The scripts that the server executes natively.</param>
    public CommandTable(CommandInfo[] commands, KnownScript[] scripts)
    {
        All = commands;
        Scripts = scripts;
        Executable = [.. All.SelectMany(command => command.Subcommands.Length > 0 ? command.Subcommands : [command])];
        int number = Unknown + 1; // The first number stands for requests that are no known command.
        foreach (CommandInfo command in All.SelectMany(command => command.Subcommands.Prepend(command)))
        {
            command.Number = number++;
            command.MayTakeLong = command.Name == "exec" || (command.Flags & (CommandFlags.AllKeys | CommandFlags.Admin)) != 0;
        }

        foreach (CommandInfo command in All)
        {
            (ulong low, ulong high) = Words(System.Text.Encoding.ASCII.GetBytes(command.Name));
            int place = PlaceOf(low, high);
            while (_places[place].Command is not null)
            {
                place = (place + 1) % Places;
            }

            _places[place] = (low, high, command);
        }
    }

    /// <summary>Gets all commands, by family.</summary>
    public CommandInfo[] All { get; }

    /// <summary>Gets the commands that are executed: commands without subcommands, and subcommands.</summary>
    public CommandInfo[] Executable { get; }

    /// <summary>Gets the scripts that the server executes natively.</summary>
    public KnownScript[] Scripts { get; }

    /// <summary>Returns the command with this name, in upper or lower case; null if there is none.</summary>
    public CommandInfo? Find(ReadOnlySpan<byte> name)
    {
        if ((uint)(name.Length - 1) >= LongestName)
        {
            return null;
        }

        (ulong low, ulong high) = Words(name);
        for (int place = PlaceOf(low, high); ; place = (place + 1) % Places)
        {
            ref readonly var candidate = ref _places[place];
            if (candidate.Command is null || (candidate.Low == low && candidate.High == high))
            {
                return candidate.Command;
            }
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static (ulong Low, ulong High) Words(ReadOnlySpan<byte> name)
    {
        Span<byte> padded = stackalloc byte[LongestName];
        padded.Clear();
        name.CopyTo(padded);
        ulong low = BinaryPrimitives.ReadUInt64LittleEndian(padded);
        ulong high = BinaryPrimitives.ReadUInt64LittleEndian(padded[8..]);

        // Padding stays zero. No name contains a zero byte.
        return name.Length <= 8
            ? (low | (LowerCase >> (64 - (name.Length * 8))), 0)
            : (low | LowerCase, high | (LowerCase >> (128 - (name.Length * 8))));
    }

    private static int PlaceOf(ulong low, ulong high) =>
        (int)(((low * 0x9E3779B97F4A7C15) ^ (high * 0xC2B2AE3D27D4EB4F)) >> 54);
}
