namespace Cairn.Cli.Commands;

// The scripts ask the tool for suggestions (Suggestions), so they do not change when commands and options do.
internal sealed class CompletionCommand : ToolCommand
{
    private const string Bash = """
        # Completion of cairn in bash. Load it now:        source <(cairn completion bash)
        # In every shell from now on, put that line into ~/.bashrc.
        _cairn_complete() {
          local IFS=$'\n'
          COMPREPLY=($("${COMP_WORDS[0]/#\~/$HOME}" "[suggest:$COMP_POINT]" "$COMP_LINE" 2>/dev/null))
        }
        complete -o bashdefault -o default -F _cairn_complete cairn
        """;

    private const string Zsh = """
        #compdef cairn
        # Completion of cairn in zsh. Load it now:         source <(cairn completion zsh)
        # In every shell from now on:                      cairn completion zsh > "${fpath[1]}/_cairn"
        _cairn_complete() {
          local line="${(j: :)words[1,CURRENT]}"
          local -a found
          found=("${(@f)$("${words[1]/#\~/$HOME}" "[suggest:${#line}]" "$line" 2>/dev/null)}")
          if [[ -n "${found[1]}" ]]; then compadd -a found; else _files; fi
        }
        if [[ "${funcstack[1]}" == _cairn ]]; then _cairn_complete; else compdef _cairn_complete cairn; fi
        """;

    private const string Fish = """
        # Completion of cairn in fish. Load it now:        cairn completion fish | source
        # In every shell from now on:                      cairn completion fish > ~/.config/fish/completions/cairn.fish
        function __cairn_complete
            set -l line (commandline --current-process --cut-at-cursor)
            cairn "[suggest:"(string length -- "$line")"]" "$line" 2>/dev/null
        end
        complete --command cairn --arguments '(__cairn_complete)'
        """;

    private readonly Argument<string> _shell = new("SHELL") { Description = "bash, zsh or fish." };

    public CompletionCommand()
        : base("completion", "Prints a script that completes commands and options in a shell.")
    {
        _shell.CompletionSources.Add("bash", "zsh", "fish");
        Add(_shell);
    }

    public override string Details =>
        "Run the script when the shell starts, as its first lines say. The script asks the tool for completions, so it stays valid when the tool is updated.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("source <(cairn completion bash)", "In this bash."),
        new("echo 'source <(cairn completion bash)' >> ~/.bashrc", "For every new bash."),
        new("cairn completion zsh > \"${fpath[1]}/_cairn\"", "In every zsh."),
        new("cairn completion fish > ~/.config/fish/completions/cairn.fish", "In every fish."),
    ];

    public override string? JsonShape => null;

    public override bool UsesStore => false;

    public override int Run(Invocation invocation)
    {
        string shell = invocation.Get(_shell)!;
        invocation.Output.WriteLine(shell switch
        {
            "bash" => Bash,
            "zsh" => Zsh,
            "fish" => Fish,
            _ => throw ToolException.Usage($"there is completion for bash, zsh and fish, not for '{shell}'"),
        });
        return ExitCode.Done;
    }
}
