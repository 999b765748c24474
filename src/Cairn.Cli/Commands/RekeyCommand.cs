namespace Cairn.Cli.Commands;

internal sealed class RekeyCommand : ToolCommand
{
    private readonly Option<string?> _newKeyFile = new("--new-key-file") { HelpName = "FILE", Description = "The new key, in this file: 32 bytes, or their 64 hexadecimal digits." };
    private readonly Option<string?> _newPasswordFile = new("--new-password-file") { HelpName = "FILE", Description = "The new password, in the first line of this file." };
    private readonly Flag _full = new("--full", "Encrypt every entry again, into a new file that replaces the old one.");
    private readonly Flag _decrypt = new("--decrypt", "With --full: remove the encryption.");

    public RekeyCommand()
        : base("rekey", "Changes the key or the password of a store that is not in use.")
    {
        Add(_newKeyFile);
        Add(_newPasswordFile);
        Add(_full);
        Add(_decrypt);
    }

    public override string Details =>
        "Without --full the entries stay unchanged, and only their key is encrypted again, which takes a moment. An attacker with an earlier copy of the file and the old key or password can read that copy and the present store. --full prevents that, and it can encrypt a store that is not encrypted. It takes as long as compact, and the disk needs room for both files.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn rekey --store books.cairn --password-file old.txt --new-password-file new.txt", "Changes a password."),
        new("cairn rekey --store books.cairn --full --new-key-file books.key", "Encrypts a store that was not encrypted."),
        new("cairn rekey --store books.cairn --full --key-file books.key --decrypt", "The reverse."),
    ];

    public override string JsonShape =>
        """{"store", "encryption", "full", "entriesKept"?, "entriesExpired"?, "entriesDamaged"?, "entriesEvicted"?, "bytesBefore"?, "bytesAfter"?}.""";

    public override int Run(Invocation invocation)
    {
        string path = invocation.StorePath;
        bool isFull = invocation.Get(_full);
        bool isDecrypted = invocation.Get(_decrypt);
        string? keyFile = invocation.Get(_newKeyFile);
        string? passwordFile = invocation.Get(_newPasswordFile);
        if ((isDecrypted ? 1 : 0) + (keyFile is null ? 0 : 1) + (passwordFile is null ? 0 : 1) != 1)
        {
            throw ToolException.Usage("name the new key with one of --new-key-file, --new-password-file and --decrypt");
        }

        if (isDecrypted && !isFull)
        {
            throw ToolException.Usage("--decrypt changes every entry, so it needs --full");
        }

        StoreEncryption? current = invocation.FindEncryption();
        if (current is null && !isFull)
        {
            throw ToolException.Usage("which key has the store now? Name it with --key-file or --password-file. A store that is not encrypted needs --full");
        }

        StoreEncryption? replacement = keyFile is not null ? SecretFile.ReadKey(keyFile)
            : passwordFile is not null ? SecretFile.ReadPassword(passwordFile)
            : null;
        string encryption = keyFile is not null ? "key" : passwordFile is not null ? "password" : "none";
        CompactReport? report = null;
        if (isFull)
        {
            using var progress = new StoreProgressLine(invocation.Console);
            report = Invocation.OnStore(
                path,
                () => StoreMaintenance.Reencrypt(
                    path, current, replacement, new CompactOptions { TimeProvider = invocation.Console.Clock }, progress, invocation.Console.Interruption));
        }
        else
        {
            Invocation.OnStore(path, () =>
            {
                StoreMaintenance.Rekey(path, current!, replacement!);
                return true;
            });
        }

        if (invocation.IsJson)
        {
            WriteJson(invocation.Output, path, encryption, report);
        }
        else
        {
            WriteText(invocation.Output, path, encryption, report);
        }

        return ExitCode.Done;
    }

    private static void WriteText(ToolOutput output, string path, string encryption, CompactReport? report)
    {
        output.WriteLine(encryption == "none" ? $"{path} is not encrypted any more" : $"{path} now has another {encryption}");
        if (report is not null)
        {
            output.WriteLine(
                $"kept {Figures.Entries(report.EntriesKept)}; left out {Figures.Count(report.EntriesExpired)} expired, " +
                $"{Figures.Count(report.EntriesDamaged)} damaged, {Figures.Count(report.EntriesEvicted)} that did not fit");
        }
    }

    private static void WriteJson(ToolOutput output, string path, string encryption, CompactReport? report)
    {
        using var line = new JsonLine(output);
        line.Writer.WriteString("store"u8, path);
        line.Writer.WriteString("encryption"u8, encryption);
        line.Writer.WriteBoolean("full"u8, report is not null);
        if (report is not null)
        {
            line.Writer.WriteNumber("entriesKept"u8, report.EntriesKept);
            line.Writer.WriteNumber("entriesExpired"u8, report.EntriesExpired);
            line.Writer.WriteNumber("entriesDamaged"u8, report.EntriesDamaged);
            line.Writer.WriteNumber("entriesEvicted"u8, report.EntriesEvicted);
            line.Writer.WriteNumber("bytesBefore"u8, report.BytesBefore);
            line.Writer.WriteNumber("bytesAfter"u8, report.BytesAfter);
        }
    }
}
